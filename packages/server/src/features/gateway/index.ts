export { gatewaySockets } from './gateway-sockets.ts'
export { OwnersGateway } from './open-gateway.ts'
