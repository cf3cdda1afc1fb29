/** The package's entry `hirebridge/partner`: everything for integrating with the partner's API. */
export { ConnectorError, type ErrorAction, isConnectorError } from '../errors.ts';
export type { KeyStatus } from './client/create-partner-client.ts';
export { createPartnerClient, type PartnerCalls, type PartnerClient } from './client/create-partner-client.ts';
export type {
  CallInput,
  CallOptions,
  CallReport,
  ChunkOutcome,
  ItemOf,
  Page,
  PageOptions,
  PartnerClientOptions,
  ReadItems,
  UnreadableItem,
} from './client/types.ts';
export {
  type EventData,
  EventEnvelope,
  type EventIdKind,
  type EventIds,
  type EventName,
  eventNames,
  events,
  isEventName,
} from './contract/events.ts';
export { contract } from './contract/index.ts';
export { checkWebhookKey, readWebhookEnvelope, type WebhookEnvelope } from './webhook.ts';
