export { hire } from './hire.ts';
export { reconcileTenant } from './reconcile-tenant.ts';
