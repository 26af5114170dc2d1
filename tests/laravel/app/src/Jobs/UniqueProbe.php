<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldBeUnique;

/**
 * Unique by its name.
 */
final class UniqueProbe extends Probe implements ShouldBeUnique
{
    public int $uniqueFor = 60;

    public function uniqueId(): string
    {
        return $this->name;
    }
}
