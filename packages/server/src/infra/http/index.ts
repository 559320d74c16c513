export type { AccessLog } from './access-log.ts'
export {
  type AdmissionDeps,
  type AdmissionHooks,
  admitAgain,
  admitCaller,
  admitToTenant,
  type Counting,
  type Proof,
} from './admission.ts'
export type { WholeAnswer } from './answer.ts'
export { bearerOf } from './bearer.ts'
export { type BrowserRequest, browserCookieNames, hasBrowserCookie } from './browser-request.ts'
export {
  type Answered,
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from './create-http-server.ts'
export { documentationRoutes } from './documentation.ts'
export * from './endpoint.ts'
export type { Gateway, GatewayPassage, GatewayVisit } from './gateway.ts'
export { listen } from './listen.ts'
export { type Peer, rateKeyOf } from './peer.ts'
export { pingRedis } from './ping-redis.ts'
export type { ProxiedHosts, ProxiedRequest, ProxiedUpgrade } from './proxied-hosts.ts'
export {
  assertRate,
  createMemoryRateLimits,
  defaultRateLimits,
  type RateLimitName,
  type RateLimits,
  rateFailure,
} from './rate-limits.ts'
export { type Outgoing, RawJson } from './raw-json.ts'
export type { RawRoute, RawVisit, UpgradeVisit } from './raw-route.ts'
export { readBody } from './read-body.ts'
export { redirectToHttps } from './redirect-to-https.ts'
export { openRedisRateLimits } from './redis-rate-limits.ts'
export type { HttpHooks } from './request-admission.ts'
export { type SecureListening, secureListening } from './secure-listening.ts'
export { compileSerializer } from './serializer.ts'
