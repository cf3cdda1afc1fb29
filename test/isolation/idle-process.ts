// A Node process that does nothing: how long its event loop stands still is the machine's doing. Answers each message
// with the longest block since the one before, ms.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.on('message', () => {
  process.send?.(delay.max / 1e6);
  delay.reset();
});
