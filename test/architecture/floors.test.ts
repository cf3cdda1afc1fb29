import { expect, test } from 'vitest';
import { importCycles, importViolations } from './floors.ts';
import { readCode } from './tree.ts';

test('every import goes to a lower floor', () => {
  const tree = readCode();
  expect([...tree.keys()]).toContain('src/errors.ts');
  expect([...tree].flatMap(([file, source]) => importViolations(file, source))).toEqual([]);
});

test('no files import each other in a ring', () => {
  expect(importCycles(readCode())).toEqual([]);
});

test.each([
  ['a room of its own floor', 'src/store/inbox.ts', `import { x } from '../partner/client.ts';`],
  ['a room above', 'src/http/request.ts', `import { x } from '../store/open.ts';`],
  ['a type from above', 'activities/hire/enrol.ts', `import type { X } from '../../workflows/messages.ts';`],
  ['an inline type from above', 'src/http/request.ts', `import { type X } from '../store/open.ts';`],
  ['a type query on a file above', 'src/http/request.ts', `type X = import('../store/open.ts').X;`],
  ['a re-export from above', 'src/http/index.ts', `export { x } from '../store/open.ts';`],
  ['a re-export of a whole file above', 'src/http/index.ts', `export * from '../store/open.ts';`],
  ['a re-exported type from above', 'src/http/index.ts', `export type { X } from '../store/open.ts';`],
  ['a dynamic import from above', 'src/http/request.ts', `const x = await import('../store/open.ts');`],
  ['an import for its effect from above', 'src/http/request.ts', `import '../store/open.ts';`],
  ['the worker from the receiver', 'src/receiver/admit.ts', `import { x } from '../worker/relay.ts';`],
  ['the command line from the composition root', 'src/app.ts', `import { x } from './cli/options.ts';`],
  ['the client from the sandbox', 'src/sandbox/server.ts', `import { x } from '../partner/client/client.ts';`],
  ['the store from the sandbox', 'src/sandbox/server.ts', `import { x } from '../store/open.ts';`],
  ['an HRIS from the plan', 'src/plan/ladder.ts', `import type { X } from '../hris/port.ts';`],
  ['the contract from the plan', 'src/plan/ladder.ts', `import type { X } from '../partner/contract/jobs.ts';`],
  ['a package from the plan', 'src/plan/ladder.ts', `import { z } from 'zod';`],
  ['a package from hire', 'src/hire/holds.ts', `import { z } from 'zod';`],
  ['another package than zod from the contract', 'src/partner/contract/jobs.ts', `import { x } from 'undici';`],
  ['a package from a workflow', 'workflows/hire.ts', `import { z } from 'zod';`],
  ['node from a workflow', 'workflows/hire.ts', `import { createHash } from 'node:crypto';`],
  ['the command line from the console', 'src/console/holds.ts', `import { x } from '../cli/options.ts';`],
  ['a test from the project', 'src/app.ts', `import { x } from '../test/harness/world.ts';`],
  ['a folder whose name only begins like one', 'src/store/a.ts', `import { x } from '../logs/b.ts';`],
])('the table refuses %s', (_what, file, source) => {
  expect(importViolations(file, source)).toHaveLength(1);
});

test.each([
  ['its own room', 'src/store/inbox.ts', `import { x } from './open.ts';`],
  ['the ground', 'src/http/request.ts', `import { x } from '../errors.ts'; import { y } from '../log.ts';`],
  ['the ground within the ground', 'src/config.ts', `import { x } from './errors.ts';`],
  ['the contract from the sandbox', 'src/sandbox/server.ts', `import { x } from '../partner/contract/jobs.ts';`],
  ['the contract from the client', 'src/partner/client/call.ts', `import { x } from '../contract/jobs.ts';`],
  ['hire from the plan', 'src/plan/ladder.ts', `import type { X } from '../hire/employee.ts';`],
  ['Temporal from a workflow', 'workflows/hire.ts', `import { x } from '@temporalio/workflow';`],
  ['the sandbox from the command line', 'src/cli/up.ts', `import { x } from '../sandbox/server.ts';`],
  ['anything from a test', 'test/cli/up.test.ts', `import { x } from '../../src/sandbox/server.ts';`],
])('the table allows %s', (_what, file, source) => {
  expect(importViolations(file, source)).toEqual([]);
});

test('a new folder must enter the table before it is used', () => {
  expect(importViolations('src/attic/old.ts', '')).toEqual(['src/attic/old.ts stands in no room of the table']);
});

test('a ring of imports is found once, through types as well', () => {
  const tree = new Map([
    ['src/a.ts', `import { b } from './b.ts';`],
    ['src/b.ts', `import type { C } from './c.ts';`],
    ['src/c.ts', `export * from './a.ts';`],
    ['src/d.ts', `import { a } from './a.ts';`],
  ]);
  expect(importCycles(tree)).toEqual(['src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts']);
});
