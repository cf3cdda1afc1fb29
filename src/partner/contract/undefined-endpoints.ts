/**
 * Endpoints that the specification says exist, and shows nothing of: no method, no path, no body. They have no route
 * here, are outside the 89 and the OpenAPI document; the client refuses them and the sandbox answers 404.
 */
export interface UndefinedEndpoint {
  id: string;
  section: string;
  what: string;
}

export const undefinedEndpoints: readonly UndefinedEndpoint[] = [
  { id: 'jobs.get', section: '4.2', what: 'GET /jobs/:jobId: not shown beyond its existence' },
  { id: 'jobs.update', section: '4.2', what: 'update-job request and response: not shown beyond their existence' },
  { id: 'bookings.reschedule', section: '4.8', what: 'reschedule (takes scheduledStartAt): no method and path' },
  { id: 'bookings.cancel', section: '4.8', what: 'cancel: no method and path' },
  { id: 'bookings.checkIn', section: '4.8', what: 'attendance check-in: no method and path' },
  { id: 'bookings.markNoShow', section: '4.8', what: 'attendance no-show: no method and path' },
  { id: 'campaigns.update', section: '4.10', what: 'update endpoint: not shown' },
];
