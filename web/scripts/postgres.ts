/** A database that lives as long as a run. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Makes one on the server that `SVC_TEST_POSTGRES` names. */
export async function throwAwayDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const { SVC_TEST_POSTGRES } = process.env;
  if (!SVC_TEST_POSTGRES) {
    throw new Error('name a server in `SVC_TEST_POSTGRES`; `cargo xtask postgres` starts one and says how');
  }
  const name = `svc_web_${randomUUID().replaceAll('-', '')}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: SVC_TEST_POSTGRES });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(SVC_TEST_POSTGRES);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
