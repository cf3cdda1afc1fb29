export { hire } from './hire.ts';
export { reconcileTenant } from './reconcile-tenant.ts';
export { exchangeStream, pullStream, pushStream, syncStream } from './streams.ts';
