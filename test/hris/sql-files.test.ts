import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EmployeeFile } from '../../src/hris/port.ts';
import { employeeFolder } from '../../src/hris/sql/employee-folder.ts';
import { createDatabase } from '../harness/postgres.ts';
import { created, employee, refusal, signal, write } from './profile.ts';
import { startSqlHris } from './start-sql-hris.ts';

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 31 + (at >> 8)) % 256));
const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
const file: EmployeeFile = {
  name: 'Passport of Ana Reyes 12.pdf',
  document: 'onboarding:../8',
  mediaType: 'application/pdf',
  bytes,
};
const NAME = `onboarding-8-${hash}.pdf`;

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-files-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** One employee beside a folder. */
async function employed(kind: 'sqlite' | 'postgres' = 'sqlite', folder?: string) {
  const place = folder ?? (await emptyFolder());
  const database =
    kind === 'postgres'
      ? await createDatabase()
      : { url: `sqlite:${join(await emptyFolder(), 'hr.sqlite')}`, drop: async () => undefined };
  const hris = await startSqlHris(database, { files: { folder: place } });
  onTestFinished(() => hris.stop());
  const { id } = created(await hris.adapter.employees.create(employee('filed'), '17:filed', write));
  if (hris.adapter.files === undefined) throw new Error('it takes no files');
  return { id, folder: place, files: hris.adapter.files, inside: () => readdir(join(place, id)) };
}

test.each(['sqlite', 'postgres'] as const)(
  '%s: a file is there once, whole, private, and without a name',
  async (kind) => {
    const { id, folder, files, inside } = await employed(kind);
    expect(await files.holds?.(id, file, signal)).toBe(false);
    expect(await files.deliver(id, file, write)).toBe('delivered');
    expect(await files.deliver(id, file, write)).toBe('there');
    expect(await inside()).toEqual([NAME]);
    expect((await readFile(join(folder, id, NAME))).equals(bytes)).toBe(true);
    const modes = await Promise.all(
      [join(folder, id), join(folder, id, NAME)].map(async (at) => (await lstat(at)).mode),
    );
    expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(['700', '600']);
    expect(await files.holds?.(id, file, signal)).toBe(true);
    await writeFile(join(folder, id, NAME), 'somebody wrote here');
    expect(await files.holds?.(id, file, signal)).toBe(false);
    const refused = await refusal(files.deliver(id, file, write));
    expect(refused).toMatchObject({ code: 'FOLDER_FILE_CHANGED', action: 'reject' });
    expect(await readFile(join(folder, id, NAME), 'utf8')).toBe('somebody wrote here');
  },
);

test('no id leads out of the folder, and no link in it', async () => {
  const outside = await emptyFolder();
  const { id, folder, files } = await employed();
  for (const other of ['..', '../..', '.', '', `${id}/../..`, '999999'])
    expect(await refusal(files.deliver(other, file, write))).toMatchObject({ code: 'EMPLOYEE_NOT_FOUND' });
  await symlink(outside, join(folder, id));
  expect(await refusal(files.deliver(id, file, write))).toMatchObject({ code: 'FOLDER_PLACE_TAKEN', action: 'reject' });
  expect(await refusal(Promise.resolve(files.holds?.(id, file, signal)))).toMatchObject({
    code: 'FOLDER_PLACE_TAKEN',
  });
  expect(await readdir(outside)).toEqual([]);
  await rm(join(folder, id));
  await mkdir(join(folder, id));
  await writeFile(join(outside, 'secret'), bytes);
  await symlink(join(outside, 'secret'), join(folder, id, NAME));
  expect(await refusal(files.deliver(id, file, write))).toMatchObject({ code: 'FOLDER_UNUSABLE', action: 'retry' });
});

test('keys that differ in their case or hold signs have folders of their own', async () => {
  const { folder } = await employed();
  const files = employeeFolder(folder, async () => undefined);
  const ids = ['Ab', 'ab', '..', '.', 'a/b', 'ü', '%2e'];
  for (const id of ids) expect(await files.deliver(id, file, write)).toBe('delivered');
  expect((await readdir(folder)).toSorted()).toEqual(
    ['%2e%2e', '%2e', '%252e', '%41b', '%c3%bc', 'a%2fb', 'ab'].toSorted(),
  );
});

test('a delivery whose time is over leaves nothing, and what a killed one left is written anew', async () => {
  const { id, folder, files, inside } = await employed();
  const late = {
    ...write,
    beforeSend: () => {
      throw new Error('too late');
    },
  };
  await expect(files.deliver(id, file, late)).rejects.toThrow('too late');
  expect(await inside()).toEqual([]);
  await writeFile(join(folder, id, `.${NAME}.part`), 'half', { mode: 0o644 });
  expect(await files.deliver(id, file, write)).toBe('delivered');
  expect(await inside()).toEqual([NAME]);
  expect((await lstat(join(folder, id, NAME))).mode & 0o777).toBe(0o600);
});

test('a folder that is away is never made, and says so', async () => {
  const { id, folder, files } = await employed();
  await files.probe?.(signal);
  expect(await readdir(folder)).toEqual([]);
  await rename(folder, `${folder}.away`);
  onTestFinished(() => rm(`${folder}.away`, { recursive: true, force: true }));
  for (const call of [() => files.deliver(id, file, write), async () => files.probe?.(signal)])
    expect(await refusal(call())).toMatchObject({
      code: 'FOLDER_UNUSABLE',
      action: 'retry',
      message: expect.stringMatching(/does not exist; hirebridge never creates it.*\(ENOENT\)/),
    });
  await writeFile(folder, 'a file');
  expect((await refusal(Promise.resolve(files.probe?.(signal)))).message).toMatch(/ENOTDIR/);
});

test('a folder that may only be read fails the check', async (context) => {
  if (process.getuid?.() === 0) return context.skip('root may write anywhere');
  const { id, folder, files } = await employed();
  await chmod(folder, 0o500);
  onTestFinished(() => chmod(folder, 0o700));
  for (const call of [() => files.deliver(id, file, write), async () => files.probe?.(signal)])
    expect((await refusal(call())).message).toMatch(/this user may not write there \(EACCES\)/);
});
