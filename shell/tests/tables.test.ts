/** The tables that say which scenario holds which sentence of the specification speak of scenarios and tests that exist. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Where the tables are, and the heading after which they begin. */
const TABLES = [
  ['e2e/shell/README.md', '## Every row, and the scenario that plays it'],
  ['shell/docs/sign-in.md', '## Every sentence, and the scenario that holds it'],
] as const;

function scenarios(): string[] {
  const env = { ...process.env, SVC_SHOP_BINARY: 'none' };
  const listed = execFileSync(process.execPath, [join(root, 'e2e/shell/run.ts'), '--list'], { env, encoding: 'utf8' });
  return listed.trim().split('\n');
}

/** What stands in the last column of each row. */
function cells(file: string, heading: string): string[] {
  const [, text = ''] = readFileSync(join(root, file), 'utf8').split(heading);
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.map((line) => line.split('|').at(-2)?.trim() ?? '').filter((cell) => !/^(Scenario|-+)$/.test(cell));
}

/** A name, shortened by `…` wherever it's clear without. */
function isNamed(short: string, names: readonly string[]): boolean {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(
    `^${short
      .split('…')
      .map((part) => literal(part.trim()))
      .join('.*')}$`,
    'u',
  );
  return names.some((name) => pattern.test(name));
}

for (const [file, heading] of TABLES) {
  test(`every scenario that ${file} names is there`, () => {
    const names = scenarios();
    const all = cells(file, heading);
    assert.ok(all.length > 20, 'the tables were found');
    const unknown = all.flatMap((cell) =>
      cell
        .replaceAll(/ \([^)]*\)/g, '')
        .split(/; (?=`pure`|[\p{L}\d +`-]+: |[\p{L}]+ [^:]*: )/u)
        .filter((part) => {
          const [, pure] = /^`pure` (\w+)$/.exec(part) ?? [];
          if (pure) return !existsSync(join(root, 'shell/tests', `${pure}.test.ts`));
          return !isNamed(part, names);
        }),
    );
    assert.deepEqual(unknown, []);
  });
}
