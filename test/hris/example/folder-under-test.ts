import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noLimits } from '../../../src/hris/http-line.ts';
import type { HrisUnderTest, Need } from '../../../src/hris-kit/hris-under-test.ts';
import { folder } from './folder.ts';

const FILES = 'files on a drive: no wire, no server, no login and no clock of its own';
const NOT_BUILT = 'left out of the example';

const lacks: Partial<Record<Need, string>> = {
  wire: FILES,
  http: FILES,
  tls: FILES,
  busy: FILES,
  revoke: FILES,
  restart: FILES,
  ownClock: FILES,
  staleUpdate: 'a file has no version',
  pending: 'a file is there at once',
  job: 'a file is there at once',
  changes: NOT_BUILT,
  people: NOT_BUILT,
  files: NOT_BUILT,
  stored: NOT_BUILT,
  rehire: NOT_BUILT,
  terminate: NOT_BUILT,
  amend: NOT_BUILT,
  webhooks: 'a folder calls nobody',
};

const WIDE = Array.from({ length: 400 }, (_, at) => `extra${at}`);

/** The example on a folder of its own. */
export async function folderUnderTest(): Promise<HrisUnderTest> {
  const place = await mkdtemp(join(tmpdir(), 'hirebridge-folder-'));
  const open = (fields: string[]) => folder.open({ folder: place, fields }, noLimits);
  const [adapter, second, wide] = await Promise.all([open(['shoe']), open(['shoe']), open(WIDE)]);
  return {
    profile: {
      employee: (tag, changes = {}) => ({
        givenName: 'Ana',
        familyName: `Reyes ${tag}`,
        email: `${tag}@example.org`,
        title: 'Cook',
        startDate: '2026-02-01',
        birthDate: '1990-05-17',
        ...changes,
      }),
      nameField: 'familyName',
      edit: { title: 'Chef' },
      missing: { startDate: null },
      number: /^\d{6}$/,
      refuses: [],
      foldsEveryLetter: true,
      findsPersons: true,
    },
    adapter,
    second,
    count: async () => (await readdir(place)).filter((name) => name.endsWith('.json')).length,
    powers: {
      uniqueReference: true,
      custom: { key: 'shoe', label: 'shoe', value: '44½' },
      wide: async () => ({ adapter: wide, fields: Object.fromEntries(WIDE.map((name) => [name, `of ${name}`])) }),
    },
    lacks,
    stop: () => rm(place, { recursive: true }),
  };
}
