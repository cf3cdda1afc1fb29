/** The package's entry `hirebridge/sandbox`: the partner's API for other people's tests. */
export { type ControlClient, createControlClient, type DeliveryRow } from './control/client.ts';
export type { FaultPlan } from './faults.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';
