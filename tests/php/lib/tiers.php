<?php

/* Which tier a test's queue is in: the database, unless the test's name ends as below. */

declare(strict_types=1);

const IN_MEMORY = ', in shared memory';

/** The same tests, with their queue in shared memory. */
function in_memory(array $tests): array
{
    return array_combine(array_map(fn ($name) => $name . IN_MEMORY, array_keys($tests)), $tests);
}

/** The tests, on each tier. */
function on_both_tiers(array $tests): array
{
    return $tests + in_memory($tests);
}
