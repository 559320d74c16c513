export { type AdminEndpointDeps, adminEndpoints } from './admin-endpoints.ts'
