/** What the benches of the web client have in common: a long list, and what is said of several rounds. */
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

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
