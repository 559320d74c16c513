export { type SniffedType, sniffType, typeWithoutBytes } from './sniff-type.ts'
