import pg from 'pg';

/** A session of Postgres that did something and never came back: its transaction stays open until it is ended. */
export async function forgottenSession(url: string, ...statements: string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  for (const statement of statements) await client.query(statement);
  return client;
}
