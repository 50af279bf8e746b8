/** What the benches of the web client have in common: a long list, and what is said of several rounds. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';

/** How long a long list is. */
export const ROWS = 100_000;

/** Customers enough that a list is long, written straight into the shop's file. */
export function fillCustomers(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 10000');
  const columns = database.prepare("SELECT name FROM pragma_table_info('customers')").all() as { name: string }[];
  const own: Record<string, string> = {
    id: 'randomblob(16)',
    number: "'B-' || n",
    name: "'Customer ' || n",
    email: 'NULL',
  };
  const names = columns.map(({ name }) => name);
  database.exec(`
    INSERT INTO customers (${names.join(',')})
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})
    SELECT ${names.map((name) => own[name] ?? `one.${name}`).join(',')}
    FROM numbers, (SELECT * FROM customers LIMIT 1) AS one`);
  database.close();
}

/** How long a program is quiet that has nothing left to do, and how long it may take to get there. */
const REST_MS = 2_000;
const LONGEST_MS = 120_000;

/** The processor time that a process has taken, in the ticks of the system. */
function ticks(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return (user ?? 0) + (system ?? 0);
}

/** Waits until a program has made what it makes of its new records, which takes a processor for ten seconds. */
export async function atRest(pid: number): Promise<void> {
  const until = Date.now() + LONGEST_MS;
  for (let before = -1, now = ticks(pid); now - before > 2 || before < 0; ) {
    if (Date.now() > until) throw new Error('the program has work all the time');
    await pause(REST_MS);
    [before, now] = [now, ticks(pid)];
  }
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
