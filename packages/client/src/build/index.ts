export { type SlimContractsPlugin, slimContracts } from './slim-contracts.ts'
