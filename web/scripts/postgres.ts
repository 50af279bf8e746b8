/** A database that lives as long as a run. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Makes one on the server that `SVC_TEST_POSTGRES` names. */
export async function throwAwayDatabase(): Promise<{
  url: string;
  /** Runs statements in it. */
  run(...statements: string[]): Promise<void>;
  drop(): Promise<void>;
}> {
  const { SVC_TEST_POSTGRES } = process.env;
  if (!SVC_TEST_POSTGRES) {
    throw new Error('name a server in `SVC_TEST_POSTGRES`; `cargo xtask postgres` starts one and says how');
  }
  const name = `svc_web_${randomUUID().replaceAll('-', '')}`;
  const runIn = async (connectionString: string, statements: readonly string[]) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await runIn(SVC_TEST_POSTGRES, [`CREATE DATABASE ${name}`]);
  const url = new URL(SVC_TEST_POSTGRES);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    run: (...statements) => runIn(url.href, statements),
    drop: () => runIn(SVC_TEST_POSTGRES, [`DROP DATABASE ${name} WITH (FORCE)`]),
  };
}
