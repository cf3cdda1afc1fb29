import { test } from 'vitest';
import { expectNoWrongMerge, LONG_MS } from '../expect-no-wrong-merge.ts';

const TABLE = 'kind: sql, connection: hr, url: "sqlite:./hr.sqlite", createTable: true, endColumn: last_day';

test(
  'sql: of 1,000 conflicts of identity none is merged wrongly, none made twice; the rest is held with a reason',
  () => expectNoWrongMerge('sql', async () => TABLE),
  LONG_MS,
);
