/** Reads measurements in the OpenMetrics format, as far as plain numbers go. */

/** One number with what it's about. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of a text; what isn't one is left out. */
export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || Number.isNaN(Number(value))) return [];
    const read = [...labels.matchAll(LABEL)].map(([, label = '', content = '']): [string, string] => [
      label,
      content.replaceAll(/\\(.)/g, (_whole, one: string) => (one === 'n' ? '\n' : one)),
    ]);
    return [{ name, labels: Object.fromEntries(read), value: Number(value) }];
  });
}

/** The sum of a measurement, over those of its samples that fit; nothing where there are none. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  fits: (labels: Readonly<Record<string, string>>) => boolean = () => true,
): number | undefined {
  const found = samples.filter((sample) => sample.name === name && fits(sample.labels));
  return found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : undefined;
}
