/** What the apps of entity sets need from the page they're in: what there is, what one may do, how windows open. */
import type { Capability, EntitySet, Model, Operation } from '../core/model.ts';

/** Records that are written together with the one they belong to, such as the lines of an order. */
export interface Lines {
  /** The navigation property that leads to them. */
  readonly navigation: string;
  /** What is asked of each, in its order. */
  readonly properties: readonly string[];
  /** The property that numbers them, which nobody writes. */
  readonly number?: string;
}

/** An element of the application's own in place of a part. */
export interface OwnElement {
  /** The property that it stands for; none for all values of a record. */
  readonly property?: string;
  /** Its name, as the script defines it. */
  readonly element: string;
  /** The address of that script. */
  readonly script: string;
}

/** How a module wants a set to look. */
export interface Look {
  readonly icon?: string;
  readonly accent?: string;
  /** Reached through other sets; no app in the start menu. */
  readonly hidden?: boolean;
  /** The order that a list begins with: a property, with `-` in front for the greatest first. */
  readonly sort?: string;
  /** The app that makes a record, where a form of its properties wouldn't do. */
  readonly create?: { readonly app: string; readonly permission: string };
  /** The columns that a list begins with. */
  readonly columns?: readonly string[];
  /** Collections whose records are written together with the one they belong to. */
  readonly lines?: readonly Lines[];
  /** Elements of the application's own in place of parts. */
  readonly elements?: readonly OwnElement[];
  /** What belongs together in records and forms, under the id of a text. */
  readonly groups?: readonly { readonly title: string; readonly properties: readonly string[] }[];
}

/** The page around an app. */
export interface SetHost {
  readonly model: Model;
  can(permission: string): boolean;
  look(set: string): Look;
  /** Opens an app, in a window of its own. */
  open(appId: string, intent: unknown): void;
}

/** Whether a person may do what a set allows. */
export function may(host: SetHost, { possible, permissions }: Capability): boolean {
  return possible && permissions.every((permission) => host.can(permission));
}

/** The actions of a set that a person may run. */
export function actionsFor(host: SetHost, set: EntitySet): Operation[] {
  return set.operations.filter(
    ({ isAction, permissions }) => isAction && permissions.every((permission) => host.can(permission)),
  );
}

/** The id of the app that shows a set. */
export function appIdOf(set: string): string {
  return `sets.${set}`;
}
