/** What the apps of entity sets need from the page they're in: what there is, what one may do, how windows open. */
import type { Capability, EntitySet, Model, Operation } from '../core/model.ts';

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
