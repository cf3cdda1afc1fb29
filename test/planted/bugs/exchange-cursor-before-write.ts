import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'cursor before write',
  patches: [
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find:
        '  const pairs = await listPairs(deps.store, scopeOf(context), run.cursor, PAGE_SIZE);\n' +
        '  const { counts, again } = await exchangePage(context, pairs);\n  await hintAgain(context, again);\n',
      replace:
        '  const pairs = await listPairs(deps.store, scopeOf(context), run.cursor, PAGE_SIZE);\n' +
        '  const counts = { unchanged: pairs.length, updated: 0, skipped: 0, quarantined: 0, held: 0 };\n',
    },
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find: '  beat({ cursor: next?.cursor, seen: next?.seen });\n',
      replace:
        '  await hintAgain(context, (await exchangePage(context, pairs)).again);\n' +
        '  beat({ cursor: next?.cursor, seen: next?.seen });\n',
    },
  ],
  caughtBy: tests(
    /FAIL .*wherever a process dies, a run that ends as done has brought every edit/,
    'test/convergence/killed-anywhere.test.ts',
  ),
};
