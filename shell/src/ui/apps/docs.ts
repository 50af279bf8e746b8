/** The documentation window. */
import { t } from '../../i18n.ts';
import type { AppDefinition } from '../../types.ts';

/** The definition. */
export function docsApp(url: string): AppDefinition {
  return {
    id: 'shell.docs',
    title: t('docs.title'),
    icon: 'docs.svg',
    accent: '#2b7a5b',
    url,
    hidden: true,
    singleInstance: true,
    width: 960,
    height: 680,
  };
}
