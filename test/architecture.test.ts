import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { init, parse } from 'es-module-lexer';
import { beforeAll, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const everyone = ['src/errors', 'src/log', 'src/failpoint'];

/** Who may import whom at run time; types are free. The longest matching room counts, and every room may import itself. */
const rooms: Record<string, { rooms: string[]; packages?: RegExp }> = {
  'src/partner/contract': { rooms: [], packages: /^zod(\/|$)/ },
  'src/sync': { rooms: [], packages: /^$/ },
  'src/mapping': { rooms: [...everyone, 'src/sync', 'src/partner/contract'] },
  'src/http': { rooms: everyone },
  'src/partner': { rooms: [...everyone, 'src/partner/contract', 'src/http'] },
  'src/hris': { rooms: [...everyone, 'src/sync', 'src/http', 'src/sql'] },
  'src/sandbox': { rooms: [...everyone, 'src/partner/contract', 'src/partner/openapi'] },
  'src/sql': { rooms: everyone },
  'src/store': { rooms: [...everyone, 'src/sql'] },
  'src/tenants': { rooms: [...everyone, 'src/hris/registry', 'src/mapping', 'src/partner/contract'] },
  activities: {
    rooms: [...everyone, 'src/partner', 'src/hris', 'src/mapping', 'src/sync', 'src/store', 'src/tenants'],
  },
  workflows: { rooms: [], packages: /^@temporalio\/workflow$/ },
  'src/temporal': { rooms: [...everyone, 'activities', 'workflows/messages'] },
  'src/webhooks': { rooms: receiving() },
  'src/console': { rooms: receiving() },
  'src/cli': { rooms: [''] },
  'src/app': { rooms: [''] },
  'src/config': { rooms: everyone },
  'src/health': { rooms: everyone },
  'src/failpoint': { rooms: everyone },
  'src/log': { rooms: everyone },
  'src/errors': { rooms: [] },
};

function receiving(): string[] {
  return [...everyone, 'src/partner/contract', 'src/partner/webhook', 'src/store', 'src/tenants', 'src/temporal'];
}

/** `store` holds `store/inbox.ts` and is `store.ts`, but is not `store-front.ts`. */
function within(file: string, room: string): boolean {
  return room === '' || file === room || file.startsWith(`${room}/`) || file.replace(/\.ts$/, '') === room;
}

function roomOf(file: string): string | undefined {
  return Object.keys(rooms)
    .filter((room) => within(file, room))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** One line for each run-time import of `source` that the table forbids. */
function violations(file: string, source: string): string[] {
  const room = roomOf(file);
  const allowed = room === undefined ? undefined : rooms[room];
  if (room === undefined || allowed === undefined) return [`${file} is in no room of the table`];
  const [imports] = parse(stripTypeScriptTypes(source));
  const names = imports.flatMap(({ specifier }) => specifier ?? []);
  return names.flatMap((name) => {
    if (!name.startsWith('.')) return (allowed.packages ?? /./).test(name) ? [] : [`${file} imports package ${name}`];
    const target = path.posix.join(path.posix.dirname(file), name);
    const free = roomOf(target) === room || allowed.rooms.some((other) => within(target, other));
    return free ? [] : [`${file} imports ${target}`];
  });
}

beforeAll(() => init);

test('every run-time import is allowed by the table of rooms', async () => {
  const files = globSync(['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts'], { cwd: root }).toSorted();
  expect(files).toContain('src/errors.ts');
  const found = await Promise.all(
    files.map(async (file) => violations(file, await readFile(path.join(root, file), 'utf8'))),
  );
  expect(found.flat()).toEqual([]);
});

test.each([
  ['a room outside its list', 'src/store/inbox.ts', `import { x } from '../partner/client.ts';`],
  ['the client from the sandbox', 'src/sandbox/server.ts', `import { x } from '../partner/client.ts';`],
  ['an activity from a workflow', 'workflows/hire.ts', `import { x } from '../activities/read-hire.ts';`],
  ['a package from a workflow', 'workflows/hire.ts', `import { z } from 'zod';`],
  ['node from a workflow', 'workflows/hire.ts', `import { createHash } from 'node:crypto';`],
  ['a package from sync', 'src/sync/diff.ts', `import { z } from 'zod';`],
  ['errors from the contract', 'src/partner/contract/jobs.ts', `import { x } from '../../errors.ts';`],
  ['another package than zod from the contract', 'src/partner/contract/jobs.ts', `import { x } from 'undici';`],
  ['the hris rooms beyond the registry from tenants', 'src/tenants/load.ts', `import { x } from '../hris/sql/a.ts';`],
  ['a re-export', 'src/http/index.ts', `export { x } from '../store/open.ts';`],
  ['a dynamic import', 'src/http/request.ts', `const x = await import('../store/open.ts');`],
  ['an import for its effect', 'src/http/request.ts', `import '../store/open.ts';`],
  ['an inline type that still loads the file', 'src/http/request.ts', `import { type X } from '../store/open.ts';`],
  ['a folder that only begins like an allowed one', 'src/store/a.ts', `import { x } from '../logs/b.ts';`],
])('the table refuses %s', (_what, file, source) => {
  expect(violations(file, source)).toHaveLength(1);
});

test.each([
  ['types from anywhere', 'workflows/hire.ts', `import type { X } from '../activities/index.ts';`],
  ['type re-exports', 'src/http/request.ts', `export type { X } from '../store/open.ts';`],
  ['its own room', 'src/store/inbox.ts', `import { x } from './open.ts';`],
  ['errors and log', 'src/http/request.ts', `import { x } from '../errors.ts'; import { y } from '../log.ts';`],
  ['the contract within the partner room', 'src/partner/client.ts', `import { x } from './contract/jobs.ts';`],
  ['anything from the command line', 'src/cli/up.ts', `import { x } from '../sandbox/server.ts';`],
])('the table allows %s', (_what, file, source) => {
  expect(violations(file, source)).toEqual([]);
});

test('a new folder must enter the table before it is used', () => {
  expect(violations('src/attic/old.ts', '')).toEqual(['src/attic/old.ts is in no room of the table']);
});
