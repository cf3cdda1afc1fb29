import { expect, onTestFinished, test } from 'vitest';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import { openHris } from '../../src/hris/registry.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { createDatabase } from '../harness/postgres.ts';
import { created, employee, signal, write } from './profile.ts';

test('an address with a capital I is found in a database whose language is Turkish', async () => {
  const { url: server, drop } = await createDatabase();
  const url = `${server}_tr`;
  const name = new URL(url).pathname.slice(1);
  const language = `encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'tr-TR'`;
  await asAdmin(server, `create database ${name} template template0 ${language}`);
  onTestFinished(async () => {
    await asAdmin(server, `drop database ${name} with (force)`);
    await drop();
  });
  await ensureHrisSchema(url);
  const hris = await openHris('sql', 'hr', { url });
  onTestFinished(() => hris.close());
  const irem = employee('i', { email: 'Irem.ILHAN@Example.org', familyName: 'ILHAN' });
  const ref = created(await hris.employees.create(irem, 'hirebridge:1:1', write));
  expect(await hris.employees.find({ by: 'email', value: 'irem.ilhan@example.org' }, signal)).toMatchObject({ ref });
  expect(await hris.employees.isTaken?.('email', 'irem.ilhan@example.org', signal)).toBe(true);
  expect(await hris.employees.isTaken?.('email', 'irem.ilha@example.org', signal)).toBe(false);
});
