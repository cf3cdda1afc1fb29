import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'cursor before write',
  patches: [
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find:
        '  const result = await exchangePage(context, pairs, { isSurveyed: survey !== undefined });\n' +
        '  if (result === undefined) return beginSurvey(context, run);\n  await hintAgain(context, result.again);\n',
      replace:
        '  const counts = { unchanged: pairs.length, updated: 0, skipped: 0, quarantined: 0, held: 0 };\n' +
        '  const result = { counts };\n',
    },
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find: '  beat({ cursor: next?.cursor, seen: next?.seen });\n',
      replace:
        '  await hintAgain(context, (await exchangePage(context, pairs, { isSurveyed: true }))?.again ?? []);\n' +
        '  beat({ cursor: next?.cursor, seen: next?.seen });\n',
    },
  ],
  caughtBy: tests(
    /FAIL .*wherever a process dies, a run that ends as done has brought every edit/,
    'test/convergence/killed-anywhere.test.ts',
  ),
};
