/** The package as it would be published. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What `npm pack` makes of this folder and its `dist/`. */
export interface Packed {
  /** The tarball's bytes. */
  data: Buffer;
  /** Paths within the package. */
  files: string[];
  /** Unpacks it into a folder that is there. */
  unpack(folder: string): void;
  /** Throws it away. */
  end(): void;
}

/** Packs what was built; nothing is built anew. */
export function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), 'shell-pack-'));
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // npm 12 answers an object with a member for each package, earlier ones a list.
  const [report] = Object.values(JSON.parse(said)) as { filename: string; files: { path: string }[] }[];
  if (!report) throw new Error(`npm pack said nothing of a package: ${said}`);
  const tarball = join(folder, report.filename);
  return {
    data: readFileSync(tarball),
    files: report.files.map(({ path }) => path).sort(),
    unpack: (to) => void execFileSync('tar', ['-xzf', tarball, '-C', to, '--strip-components=1']),
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}
