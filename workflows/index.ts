export { hire } from './hire.ts';
export { reconcileTenant } from './reconcile-tenant.ts';
export { syncStream } from './sync-stream.ts';
