import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'e-mail sent as it was typed',
  patches: [
    {
      file: 'src/partner/client/call.ts',
      find: 'return parsed.success ? parsed.data : text;',
      replace: 'return text;',
    },
  ],
  caughtBy: tests(
    /an e-mail with a zero-width blank is sent and read without them/,
    'test/partner/client/emails.test.ts',
  ),
};
