import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A new empty database on this server; gives its URL. */
export async function newDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdmin(serverUrl, `create database ${name}`);
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

export async function asAdmin(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
