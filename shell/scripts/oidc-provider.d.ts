/** As much of `oidc-provider` as the scenarios use; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    path: string;
    status: number;
    body: unknown;
    set(name: string, value: string): void;
    get(name: string): string;
    oidc?: { params?: Record<string, unknown> };
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
