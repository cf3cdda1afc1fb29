import { supervise } from '../../src/cli/supervise.ts';

/** A parent as `up` is one, for tests that kill it: tells each child's pid and says when the child listens. */
const supervisor = supervise([{ name: 'sandbox', args: ['sandbox', '--port', '0', '--control-port', '0'] }], {
  onStart: (_name, child) => process.send?.({ pid: child.pid }),
  onMessage: (_name, message) => process.send?.({ listening: message }),
  print: () => undefined,
});
process.once('SIGTERM', () => void supervisor.stop().then(() => process.exit(0)));
