export { type SniffedType, sniffType } from './sniff-type.ts'
