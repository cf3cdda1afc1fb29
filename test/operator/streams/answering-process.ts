import { createLogger } from '../../../src/log.ts';
import { answerSync } from '../../../src/operator/ask-worker.ts';

/** Answers as a worker does, says each request to its parent, and follows it without an end. */
const [dataDir = ''] = process.argv.slice(2);
await answerSync({
  dataDir,
  version: '1',
  mark: 'store-a',
  log: createLogger('test'),
  follow(request, onLook) {
    process.send?.({ request });
    onLook({});
    return new Promise(() => undefined);
  },
});
process.send?.('answers');
