/** What values mean, by the semantic type that the metadata names: how they are typed, and where they lead. */
import type { Property } from './model.ts';

/** How values of a semantic type are treated. */
export interface Meaning {
  /** The type of an input in which they are typed. */
  readonly input: 'email' | 'tel' | 'text' | 'url';
  /** Where a value leads: an address that the browser knows what to do with. Nothing where it isn't whole, as one that is shown in a changed form. */
  readonly address?: (value: string) => string | undefined;
}

const MEANINGS = new Map<string, Meaning>();

/** Says how values of a semantic type are treated; modules say it of their own. */
export function mean(semanticType: string, meaning: Meaning): void {
  MEANINGS.set(semanticType, meaning);
}

/** How the values of a property are treated, where they have a meaning that is known here. */
export function meaningOf({ semanticType }: Pick<Property, 'semanticType'>): Meaning | undefined {
  return semanticType === undefined ? undefined : MEANINGS.get(semanticType);
}

mean('email', {
  input: 'email',
  address(value) {
    const parts = /^([^\s@…]+)@([^\s@…]+)$/.exec(value);
    return parts ? `mailto:${encodeURIComponent(parts[1] ?? '')}@${encodeURIComponent(parts[2] ?? '')}` : undefined;
  },
});

mean('phone', {
  input: 'tel',
  address(value) {
    const parts = /^(\+?[\d(][\d\s()./-]*?)(?:\s(?:x|ext\.)\s?(\d+))?$/i.exec(value);
    if (!parts) return undefined;
    return `tel:${(parts[1] ?? '').replace(/[^+\d]/g, '')}${parts[2] === undefined ? '' : `;ext=${parts[2]}`}`;
  },
});
