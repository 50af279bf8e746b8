/** What somebody is writing: values that differ from how it was, with what is wrong about them. */
import { changed, type Values } from '../core/changes.ts';
import { readInput, type Complaint } from '../core/input.ts';
import type { Property } from '../core/model.ts';
import type { Problem } from '../core/problem.ts';
import { decimalSign, text } from '../text.ts';

export class Draft {
  readonly #before: Values;
  readonly #values: Values;
  readonly #texts = new Map<string, string>();
  readonly #complaints = new Map<string, Complaint>();
  readonly #refused = new Map<string, string>();
  /** What references are called that were picked. */
  readonly titles = new Map<string, string>();

  constructor(before: Values = {}) {
    this.#before = before;
    this.#values = { ...before };
  }

  value(name: string): unknown {
    return this.#values[name];
  }

  /** All of it, as it's written now. */
  get values(): Values {
    return { ...this.#values };
  }

  /** What stands in the field, if somebody typed there. */
  typed(name: string): string | undefined {
    return this.#texts.get(name);
  }

  /** Takes what somebody typed. */
  type(property: Property, typed: string): void {
    this.#texts.set(property.name, typed);
    this.#refused.delete(property.name);
    const reading = readInput(property, typed, decimalSign());
    if ('complaint' in reading) {
      this.#complaints.set(property.name, reading.complaint);
      return;
    }
    this.#complaints.delete(property.name);
    this.set(property.name, reading.value);
  }

  set(name: string, value: unknown): void {
    this.#refused.delete(name);
    this.#complaints.delete(name);
    this.#values[name] = value;
  }

  /** Takes back what was written in a field. */
  reset(name: string): void {
    this.#texts.delete(name);
    this.#complaints.delete(name);
    this.#refused.delete(name);
    if (name in this.#before) this.#values[name] = this.#before[name];
    else delete this.#values[name];
  }

  /** What differs from how it was. */
  get changes(): Values {
    return changed(this.#before, this.#values);
  }

  get isDirty(): boolean {
    return this.#complaints.size > 0 || Object.keys(this.changes).length > 0;
  }

  isChanged(name: string): boolean {
    return this.#complaints.has(name) || name in this.changes;
  }

  /** Everything that has to be there is. Marks what isn't. */
  isComplete(required: readonly Property[]): boolean {
    for (const property of required) {
      const value = this.#values[property.name];
      if (value === undefined || value === null || value === '') this.#complaints.set(property.name, 'field-required');
    }
    return this.#complaints.size === 0;
  }

  /** Takes what the server says about fields; gives back what it says about none of them. */
  refuse(problem: Problem, names: readonly string[]): string[] {
    this.#refused.clear();
    const rest: string[] = [];
    for (const { field, message } of problem.fields) {
      if (names.includes(field)) this.#refused.set(field, message);
      else rest.push(field ? `${field}: ${message}` : message);
    }
    return rest;
  }

  /** What is wrong with a field, in words. */
  wrong(property: Property): string | undefined {
    const complaint = this.#complaints.get(property.name);
    if (complaint) return text(complaint, { max: property.maxLength ?? 0 });
    return this.#refused.get(property.name);
  }

  /** The first of these fields that something is wrong with. */
  firstWrong(names: readonly string[]): string | undefined {
    return names.find((name) => this.#complaints.has(name) || this.#refused.has(name));
  }
}
