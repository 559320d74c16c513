/** `alice.names.example` as `example.names.alice`: what lies below a name follows it in this order. */
export function reversedName(name: string): string {
  return name.split('.').reverse().join('.')
}
