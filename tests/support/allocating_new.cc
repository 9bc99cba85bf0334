/*
 * Makes C++ allocate with malloc, so that a program that makes C allocations
 * fail through the linker makes those of C++ fail, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cstdlib>
#include <new>

void *
operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return std::malloc(size > 0 ? size : 1);
}

void *
operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
    return std::malloc(size > 0 ? size : 1);
}

void *
operator new(std::size_t size)
{
    void *memory = operator new(size, std::nothrow);

    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void *
operator new[](std::size_t size)
{
    return operator new(size);
}

void
operator delete(void *memory) noexcept
{
    std::free(memory);
}

void
operator delete[](void *memory) noexcept
{
    std::free(memory);
}

void
operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

void
operator delete[](void *memory, std::size_t) noexcept
{
    std::free(memory);
}
