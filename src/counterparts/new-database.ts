import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A new database on this server, empty or a copy of `template`, to which nobody is connected; gives its URL. */
export async function newDatabase(serverUrl: string, template = 'template1'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdmin(serverUrl, `create database ${name} template ${template}`);
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
