/** Opens apps from pages of modules. */
import { Shell } from '@svc/shell';

/** Opens an app, or shows what it's asked for; says whether that's allowed. */
export function openApp(id: string, intent?: unknown): boolean {
  return Shell.openApp(id, intent);
}
