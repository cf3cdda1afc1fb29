import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'refused request names no record',
  patches: [
    {
      file: 'src/partner/client/call.ts',
      find: '${recordOf(input, part, issue.path)}',
      replace: '${recordOf(input, part, issue.path).slice(0, 0)}',
    },
  ],
  caughtBy: tests(
    /a request refused before it leaves names record, field and fault/,
    'test/partner/client/emails.test.ts',
  ),
};
