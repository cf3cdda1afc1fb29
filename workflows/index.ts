export { exchangeStream } from './exchange-stream.ts';
export { hire } from './hire.ts';
export { pullStream } from './pull-stream.ts';
export { pushStream } from './push-stream.ts';
export { reconcileTenant } from './reconcile-tenant.ts';
export { syncStream } from './sync-stream.ts';
