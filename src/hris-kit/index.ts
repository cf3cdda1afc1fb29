/** The package's entry `hirebridge/hris`: what an HR system's kind needs if it has a package of its own. */
export { ConnectorError, type ErrorAction, isConnectorError } from '../errors.ts';
export type { EmployeeFields, EmployeeRef, FieldValue, FindKey, Found } from '../hire/hire.ts';
export { clockOf, nextChangeCursor, readChangeCursor, readCursor } from '../hris/change-cursor.ts';
export type { DefinitionHooks, HookedRequest } from '../hris/http/hooks.ts';
export {
  callHris,
  type HrisLimits,
  type HrisLine,
  type HrisRequest,
  type LineRequest,
  noLimits,
  openLine,
  type Refusal,
  readJson,
  sameAddress,
} from '../hris/http-line.ts';
export { duration } from '../hris/option-types.ts';
export type * from '../hris/port.ts';
export { cellText, type ReadCell, readCell, readFields } from '../hris/read-cell.ts';
export { readTogether } from '../hris/read-many.ts';
export { fieldsToAmend, fitsKey, foldText, foundBy, hasEnded, probed, refuseFields } from '../hris/records.ts';
export type { HttpAnswer } from '../http/http-error.ts';
export type { SignedDelivery, WebhookSigning } from '../http/signed-delivery.ts';
export type { HrisCell, HrisProfile, HrisUnderTest, HttpPower, Need, Powers, Spell, Wire } from './hris-under-test.ts';
export { httpPowers } from './hris-under-test.ts';
export { type HttpFault, type HttpProxy, startHttpProxy } from './http-proxy.ts';
export { hrisCells } from './suite.ts';
