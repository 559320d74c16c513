export { sniffType, typeWithoutBytes } from './sniff-type.ts'
