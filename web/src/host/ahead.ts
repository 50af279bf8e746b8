/**
 * What each start asks the server for, and the script of the app that its address names: asked for by a small script of its own,
 * which is there long before the rest of the code, so that answers are on their way meanwhile. `send` hands them to whoever asks
 * first.
 */
import { messages } from 'svc:modules';
import { APPS, HOST_USER, ME, messagesIn, METADATA, profileOf, START } from '../client/addresses.ts';
import { sendAhead } from '../client/request.ts';
import { languageFor } from '../core/language.ts';
import { appIdOf } from '../sets/context.ts';
import { firstLanguage } from './language.ts';

const tag = firstLanguage();
const language = languageFor(tag, messages);
// The desktop's own document is known by who this is.
sendAhead<{ identity: { id: string } }>(ME).then(
  ({ body }) => sendAhead(profileOf(`shell.${body.identity.id}`)),
  () => undefined,
);
for (const path of [HOST_USER, METADATA, START, messagesIn(language), ...(messages[language] ?? [])]) sendAhead(path);
sendAhead(APPS, { headers: { 'accept-language': tag } });

// Whoever can't have it now gets it when the app is opened, or is told why not.
const named = new URLSearchParams(location.search).get('app');
if (named?.startsWith(appIdOf(''))) import('../sets/render.ts').catch(() => undefined);
