import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'external status read nested only',
  patches: [
    {
      file: 'src/partner/client/call.ts',
      find: '  const employeeId = data[names.employeeId]',
      replace: '  if (nested === undefined) return undefined;\n  const employeeId = data[names.employeeId]',
    },
  ],
  caughtBy: tests(
    /the external status is read flat, beside the other fields, without configuration/,
    'test/partner/client/overrides.test.ts',
  ),
};
