/** What the names of generated animals are drawn from. */
export interface Names {
  readonly petNames: readonly string[];
  readonly firstNames: readonly string[];
}

/**
 * Faker's word lists. Its randomizer would have to be seeded anew for every record, so only they are
 * used: the build writes them into a file of their own, and the package does without faker.
 */
export async function loadNames(): Promise<Names> {
  // One locale costs a seventh of the whole package's import.
  // biome-ignore lint/correctness/noUndeclaredDependencies: what is published has only the words
  const { faker } = await import('@faker-js/faker/locale/en');
  return {
    petNames: faker.definitions.animal.pet_name,
    firstNames: [...new Set(Object.values(faker.definitions.person.first_name).flat())],
  };
}
