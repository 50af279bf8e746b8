/** Made by the build of what modules bring: their apps, how their sets look, and where texts and pictures lie. */
declare module 'svc:modules' {
  export const messages: Readonly<Record<string, readonly string[]>>;
  /** The folder of the pictures. */
  export const icons: string;
  export const modules: readonly {
    readonly apps?: readonly {
      readonly id: string;
      /** The id of a message. */
      readonly title: string;
      readonly icon: string;
      readonly accent?: string;
      readonly width?: number;
      readonly height?: number;
      readonly requiredPermissions?: readonly string[];
      readonly group?: 'data' | 'system';
      readonly singleInstance?: boolean;
      /** Loads the module with the render function. */
      load(): Promise<{ default: import('@svc/shell').RenderFunction }>;
      /** Loads what keeps the app's badge. */
      loadBadge?(): Promise<{ default: (show: (value: number) => void) => void }>;
    }[];
    readonly sets?: Readonly<Record<string, import('../sets/context.ts').Look>>;
  }[];
}
