/** What a person types into a field, as a value of JSON; the server checks it again. */
import type { Property } from './model.ts';
import { isValue } from './filter.ts';

/** Why a text is no value: the id of a message. */
export type Complaint =
  | 'field-required'
  | 'field-number'
  | 'field-whole'
  | 'field-time'
  | 'field-json'
  | 'field-too-long'
  | 'field-other';

/** A value, or why there is none. */
export type Reading = { readonly value: unknown } | { readonly complaint: Complaint };

/** Reads a decimal number as people of both kinds write it: `1,234.50`, `1.234,50`, `12,5`, and `12,50 €` as pages show it. */
export function readNumber(text: string, decimalSign: string): string | undefined {
  const grouping = decimalSign === ',' ? '\\.' : ',';
  const grouped = text
    .replaceAll(/[\s'’\u00A0\u202F\p{Sc}]/gu, '')
    .replaceAll('−', '-')
    // Groups have three digits: whoever writes `12,5` where that groups means something else.
    .replaceAll(new RegExp(`${grouping}(?=\\d{3}(\\D|$))`, 'g'), '');
  if (decimalSign !== '.' && grouped.includes('.')) return undefined;
  const plain = grouped.replace(decimalSign, '.');
  return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(plain) ? plain.replace(/^\+/, '').replace(/\.$/, '') : undefined;
}

/** Reads what stands in a field. */
export function readInput(property: Property, text: string, decimalSign: string): Reading {
  if (text === '' && property.kind !== 'text') {
    return property.nullable || property.hasDefault ? { value: null } : { complaint: 'field-required' };
  }
  switch (property.kind) {
    case 'text':
      return readText(property, text);
    case 'integer':
    case 'decimal': {
      const number = readNumber(withoutMeasure(property, text), decimalSign);
      if (number === undefined) return { complaint: 'field-number' };
      if (property.kind === 'integer' && number.includes('.')) return { complaint: 'field-whole' };
      return { value: Number(number) };
    }
    case 'boolean':
      return { value: text === 'true' };
    case 'time': {
      const time = new Date(text);
      return Number.isNaN(time.getTime()) ? { complaint: 'field-time' } : { value: time.toISOString() };
    }
    case 'json':
      return readJson(text);
    default:
      return isValue(property, 'is', text) ? { value: text } : { complaint: 'field-other' };
  }
}

/** What somebody has taken over together with the number: `5 kg`, `12.50 EUR`. */
function withoutMeasure({ measure }: Property, text: string): string {
  const said = measure?.always;
  return said !== undefined && text.trimEnd().endsWith(said) ? text.trimEnd().slice(0, -said.length) : text;
}

function readJson(text: string): Reading {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { complaint: 'field-json' };
  }
}

function readText(property: Property, text: string): Reading {
  if (property.maxLength !== undefined && [...text].length > property.maxLength) return { complaint: 'field-too-long' };
  if (text !== '') return { value: text };
  return property.nullable ? { value: null } : { value: '' };
}
