/** Every text that the code asks for exists, in every language, with the same arguments. */
import { deepEqual, equal } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, Visitor, type Message, type VariableReference } from '@fluent/syntax';
import { moduleFolders } from '../scripts/build.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folders = [root, ...moduleFolders()];

class Variables extends Visitor {
  readonly names = new Set<string>();
  override visitVariableReference(node: VariableReference): void {
    this.names.add(node.id.name);
  }
}

/** The messages of a file with their arguments. */
function messagesOf(file: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const entry of parse(readFileSync(file, 'utf8'), {}).body) {
    equal(entry.type === 'Junk', false, `${file} has a line that is no Fluent`);
    if (entry.type !== 'Message') continue;
    const variables = new Variables();
    variables.visit(entry as Message);
    equal(found.has(entry.id.name), false, `${file} has \`${entry.id.name}\` twice`);
    found.set(entry.id.name, [...variables.names].sort());
  }
  return found;
}

for (const folder of folders) {
  const short = folder.slice(join(root, '..').length + 1);

  test(`${short}: the client's texts are there in German, too`, () => {
    const english = messagesOf(join(folder, 'messages/en.ftl'));
    const german = messagesOf(join(folder, 'messages/de.ftl'));
    for (const [id, variables] of english) deepEqual(german.get(id), variables, `\`${id}\` in German`);
    // Names of properties that are English already need no text.
    for (const id of german.keys()) {
      if (!/^[A-Z]/.test(id)) equal(english.has(id), true, `\`${id}\` is only in German`);
    }
  });

  test(`${short}: what the code says is there`, () => {
    const known = new Set(
      folders
        .slice(0, 1)
        .concat(folder)
        .flatMap((one) => [...messagesOf(join(one, 'messages/en.ftl')).keys()]),
    );
    const own = folder === root ? 'src/**/*.ts' : '**/*.ts';
    for (const file of globSync(own, { cwd: folder })) {
      const source = readFileSync(join(folder, file), 'utf8');
      for (const [, id] of source.matchAll(/\btext\(\s*'([a-z][\w-]*)'/g)) {
        equal(known.has(id ?? ''), true, `${file} says \`${id}\``);
      }
    }
  });
}
