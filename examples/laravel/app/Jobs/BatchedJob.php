<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Bus\Batchable;

/**
 * A job that counts towards its batch.
 */
final class BatchedJob extends Job
{
    use Batchable;
}
